"""The device mesh is the whole machine or an error; the environment between launcher and program."""

import subprocess
import sys

import jax
import pytest
from jax.sharding import AxisType, PartitionSpec

from meshc import runtime
from meshc.runtime import env


def test_first_axis_is_outermost_and_axes_are_auto():
    mesh = runtime.make_mesh({"dp": 2, "tp": 4})
    assert dict(mesh.shape) == {"dp": 2, "tp": 4}
    assert mesh.axis_types == (AxisType.Auto, AxisType.Auto)
    assert [device.id for device in mesh.devices[0]] == [0, 1, 2, 3]


@pytest.mark.parametrize("axes", [{"dp": 4}, {"dp": 256}, {"dp": 2, "tp": 2}, {}])
def test_a_mesh_of_another_size_than_the_machine_is_an_error(axes):
    with pytest.raises(runtime.UserError, match="this run has 8") as raised:
        runtime.make_mesh(axes)
    assert "JAX_NUM_CPU_DEVICES=" in str(raised.value)


def test_no_axes_is_one_device():
    mesh = runtime.make_mesh({}, jax.devices()[:1])
    assert mesh.size == 1 and not mesh.shape
    doubled = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=PartitionSpec(), out_specs=PartitionSpec())
    assert float(doubled(jax.numpy.float32(3))) == 6


def test_a_user_error_ends_a_program_with_its_message_and_no_traceback():
    code = "from meshc import runtime; raise runtime.UserError('no data', 'give some')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: no data\n  = help: give some\n"


def test_launchers_read_the_contract_without_jax():
    code = "import sys, meshc.runtime.env; assert 'jax' not in sys.modules and 'numpy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_public_name_is_there():
    assert all(getattr(runtime, name) for name in runtime.__all__)
    assert set(runtime._HOMES) == set(runtime.__all__)


@pytest.mark.parametrize(
    "place",
    [
        env.Environment(),
        env.Environment(platform="cpu", cpu_devices=8),
        env.Environment("host0:1234", processes=4, process=3, local_devices=(0, 1)),
    ],
)
def test_what_a_launcher_sets_a_program_reads(place):
    assert env.read(place.variables()) == place


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({env.COORDINATOR: "h:1", env.NUM_PROCESSES: "2"}, "`JAX_PROCESS_ID` is not"),
        ({env.COORDINATOR: "h:1", env.NUM_PROCESSES: "2", env.PROCESS_ID: "2"}, "is 2, and there are 2 processes"),
        ({env.COORDINATOR: "h:1", env.NUM_PROCESSES: "two", env.PROCESS_ID: "0"}, "'two', not a number"),
    ],
)
def test_a_wrong_place_among_processes_is_an_error(variables, message):
    with pytest.raises(runtime.UserError, match=message):
        env.read(variables)
