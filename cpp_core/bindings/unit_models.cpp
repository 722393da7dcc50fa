// Bindings of chains, rigid-body functions, least squares and static friction laws. One unit: each further one would
// compile pybind11's own functions again (3 to 5 s). This one is compiled with -O2, and comes last in alphabetical
// order, so that the linker keeps the -O3 copies of inline functions that other units have too.
#include "bind_chain.cpp"
#include "bind_friction.cpp"
#include "bind_module.cpp"
#include "bind_normal_qr.cpp"
#include "bind_rigid_body.cpp"
#include "bind_savitzky_golay.cpp"
