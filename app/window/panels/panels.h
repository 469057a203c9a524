#pragma once

#include <string>
#include <vector>

#include "app/settings.h"
#include "app/window/results.h"
#include "app/window/ui.h"

// One function a panel, each in a file of its own. Panels read results, edit settings and the interface's own
// state, and ask for actions; they never call CUDA or OpenGL.
namespace convscope {

void menu_panel(Settings&, const Results&, Ui&);
void status_bar(const Settings&, const Results&, Ui&);
void source_panel(Settings&, const Results&, Ui&);
/// Its parts for a stream: rates, and the controls of playing it.
void stream_rates(const LiveStatus&, const Ui&);
void stream_controls(Settings&, const LiveStatus&, Ui&);
void strategies_panel(Settings&, const Results&, Ui&);
void filter_bank_panel(Settings&, const Results&, Ui&);
void convolution_panel(Settings&, const Results&, Ui&);
void pixel_panel(const Settings&, const Results&, Ui&);
void difference_panel(Settings&, const Results&, Ui&);
/// The area below the maps: tabs, and the panel of the chosen one.
void bottom_panels(Settings&, const Results&, Ui&);
void race_panel(Settings&, const Results&, Ui&);
void roofline_panel(Settings&, const Results&, Ui&);
void strategy_details_panel(const Results&, Ui&);
/// That a race runs and disturbs what else is timed; empty while none does.
std::string race_note(const RaceResults&);
/// Whether the race is of what is on screen, on the line at hand.
void race_age_note(const Results&, const Ui&);
/// The account of a stream, where the source is one.
void flow_panel(const Results&, Ui&);
void timings_panel(const Settings&, const Results&, Ui&);
void views_panel(Settings&, const Results&, Ui&);
/// Labels, outlines and values over the picture, in Ui::view_list: between the panels and the end of the
/// frame, when Ui says what the picture is of.
void view_overlay(const Settings&, const Results&, const Ui&);
void help_window(const Results&, Ui&);
void file_browser(Settings&, const Results&, Ui&);
/// Asks for the names of session and export files; the frame does the work.
void file_dialogs(Ui&);

}  // namespace convscope
