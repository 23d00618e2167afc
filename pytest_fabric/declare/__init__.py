"""What a test declares: the measurement it asserts about."""

from pytest_fabric.declare.declaration import FABRIC as FABRIC
from pytest_fabric.declare.declaration import ISOLATE as ISOLATE
from pytest_fabric.declare.declaration import Declaration as Declaration
from pytest_fabric.declare.facts import firmware_facts as firmware_facts
from pytest_fabric.declare.facts import host_facts as host_facts
from pytest_fabric.declare.facts import infiniband_facts as infiniband_facts
from pytest_fabric.declare.facts import link_facts as link_facts
from pytest_fabric.declare.facts import node_facts as node_facts
from pytest_fabric.declare.facts import port_facts as port_facts
from pytest_fabric.declare.facts import qos_facts as qos_facts
from pytest_fabric.declare.facts import subnet_facts as subnet_facts
from pytest_fabric.declare.facts import wiring_facts as wiring_facts
from pytest_fabric.declare.layers import LAYERS as LAYERS
from pytest_fabric.declare.layers import layer_of as layer_of
from pytest_fabric.declare.perftest import ib_read_bw as ib_read_bw
from pytest_fabric.declare.perftest import ib_read_lat as ib_read_lat
from pytest_fabric.declare.perftest import ib_send_bw as ib_send_bw
from pytest_fabric.declare.perftest import ib_send_lat as ib_send_lat
from pytest_fabric.declare.perftest import ib_write_bw as ib_write_bw
from pytest_fabric.declare.perftest import ib_write_lat as ib_write_lat
from pytest_fabric.declare.reach import REACH_ITERATIONS as REACH_ITERATIONS
from pytest_fabric.declare.reach import ping as ping
from pytest_fabric.declare.reach import rdma_reach as rdma_reach
from pytest_fabric.declare.tcp import iperf3 as iperf3
