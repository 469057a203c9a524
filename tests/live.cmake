# The suites of streams: the thread around a source, its readers, the parts they share.
convscope_test(live_source APP)
convscope_test(live_parts APP)
convscope_test(live_readers APP)
