"""Ports: functions that a package above provides."""

import pytest

from belvedere.db.ports import Port, PortList


def test_a_port_calls_the_function_that_is_connected() -> None:
    port: Port[[int], str] = Port("numbers.text_of")
    port.connect(lambda number: f"<{number}>")
    assert port(3) == "<3>"


def test_a_port_that_is_not_connected_is_an_error() -> None:
    port: Port[[int], str] = Port("numbers.text_of")
    with pytest.raises(RuntimeError, match="numbers.text_of is not connected"):
        port(3)


def test_a_list_of_ports_calls_each_function_in_order() -> None:
    ports: PortList[[int], int] = PortList("numbers.changed")
    ports.connect(lambda number: number + 1, lambda number: number * 2)
    assert list(ports.each(3)) == [4, 6]


def test_a_list_of_ports_stops_calling_when_reading_stops() -> None:
    ports: PortList[[int], bool] = PortList("numbers.known")
    ports.connect(lambda number: number == 3, lambda number: 1 // 0 == 0)
    assert any(ports.each(3))


def test_a_list_of_ports_that_is_not_connected_is_an_error() -> None:
    ports: PortList[[int], int] = PortList("numbers.changed")
    with pytest.raises(RuntimeError, match="numbers.changed is not connected"):
        ports.each(3)
