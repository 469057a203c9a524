// The main() of the suites of the program: the registry has the program's own rows, too.

#include <gtest/gtest.h>

#include "app/opencv_strategy.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  convscope::register_opencv_strategies();
  return RUN_ALL_TESTS();
}
