"""Values that nothing can be measured with are refused before a run starts; what is said is in the user's words."""

from __future__ import annotations

import pytest

from flowgauge.errors import ConfigError, UnknownNameError
from flowgauge.runner.plan import Request, make_plan


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("packet_in.rates_mbps=[-1]", "packet_in.rates_mbps[0] is -1; input should be greater than 0"),
        ("packet_out.rates_mbps=[10, 0]", "packet_out.rates_mbps[1] is 0; input should be greater than 0"),
        ("packet_in.rates_mbps=abc", "should be a valid list"),
        ("data_path_delay.rates_mbps=[]", "(rates_mbps: layer-2 rates, Mbit/s of 10^6 bit)"),
        ("packet_in.frame_sizes=[63]", "greater than or equal to 64"),
        ("packet_in.frame_sizes=[99999999]", "less than or equal to 9018"),
        ("data_path_delay.duration_s=0", "greater than 0"),
        ("data_path_delay.duration_s=-1", "greater than 0"),
        ("packet_in.duration_s=nan", "packet_in.duration_s is nan; input should be a valid number"),
        ("packet_in.duration_s=inf", "packet_in.duration_s is inf; input should be a valid number"),
        ("flow_add.entries=[0]", "greater than or equal to 1"),
        ("flow_add_max.entries=[]", "(entries: entries per batch)"),
        ("flow_mod.frame_size=100000", "less than or equal to 9018"),
    ],
)
def test_values_that_can_not_be_measured(setting: str, said: str) -> None:
    benchmark = setting.partition(".")[0]
    with pytest.raises(ConfigError) as caught:
        make_plan(Request(targets=[benchmark], settings=[setting]))
    assert said in caught.value.message
    assert f"--set {setting}" in caught.value.message
    assert benchmark in (caught.value.advice or "")


def test_an_empty_name_is_no_dut() -> None:
    from flowgauge.duts import create

    with pytest.raises(UnknownNameError, match='no DUT is called ""'):
        create(make_plan(Request(targets=["packet_in"], dut="")).dut)
