"""OpenML through scikit-learn, against a server on loopback that speaks as much of its protocol as is needed."""

import hashlib
import http.server
import json
import threading

import numpy as np
import pytest
from sklearn.datasets import _openml

from sigstats.tasks.datasets.readers import load

ARFF = """\
@relation weather
@attribute outlook {sunny, rain, snow}
@attribute temperature numeric
@attribute code numeric
@attribute row numeric
@attribute play {yes, no}
@data
sunny,20.5,1,1,yes
rain,?,2,2,no
?,-3,1,3,no
rain,7,2,4,yes
"""
FEATURES = [
    {"index": str(index), "name": name, "data_type": kind, "is_target": "false", "is_ignore": "false",
     "is_row_identifier": "false", "number_of_missing_values": "0"}
    for index, (name, kind) in enumerate(
        {"outlook": "nominal", "temperature": "numeric", "code": "numeric", "row": "numeric", "play": "nominal"}.items()
    )
]  # fmt: skip
FEATURES[4]["is_target"] = "true"
FEATURES[3]["is_row_identifier"] = "true"


class OpenML(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        about = {
            "id": "7",
            "did": 7,
            "name": "weather",
            "version": 1,
            "status": "active",
            "format": "ARFF",
            "description": "",
            "url": f"{base}/data/weather.arff",
            "file_id": "70",
            "default_target_attribute": "play",
            "md5_checksum": hashlib.md5(ARFF.encode()).hexdigest(),
        }
        answers = {
            "/api/data/7": {"data_set_description": about},
            "/api/data/features/7": {"data_features": {"feature": FEATURES}},
            "/api/data/qualities/7": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "4.0"}]}},
            "/api/list/weather/data_version/1": {"data": {"dataset": [about]}},
        }
        self.server.asked.append(self.path)
        if self.path == "/data/weather.arff":
            body = ARFF.encode()
        elif self.path in answers:
            body = json.dumps(answers[self.path]).encode()
        else:
            self.send_error(412)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), OpenML) as found:
        found.asked = []
        base = f"http://127.0.0.1:{found.server_port}/api"
        monkeypatch.setattr(_openml, "_SEARCH_NAME", base + "/list/{}")
        monkeypatch.setattr(_openml, "_DATA_INFO", base + "/data/{}")
        monkeypatch.setattr(_openml, "_DATA_FEATURES", base + "/data/features/{}")
        monkeypatch.setattr(_openml, "_DATA_QUALITIES", base + "/data/qualities/{}")
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def openml(tmp_path, **changes):
    spec = {"name": "W", "source": "openml", "id": 7, "cache": "kept", **changes}
    return load({key: value for key, value in spec.items() if value is not None}, base=tmp_path)


def test_a_data_set_by_number_and_by_name_and_from_the_cache(server, tmp_path):
    dataset = openml(tmp_path)
    assert dataset.features == ("outlook", "temperature", "code")  # a row's number is no feature
    assert dataset.categories == (("rain", "sunny"), (), ())  # no row has snow
    assert (dataset.classes, dataset.y.tolist()) == (("no", "yes"), [1, 0, 0, 1])
    nan = np.nan
    np.testing.assert_array_equal(dataset.X, [[1, 20.5, 1], [0, nan, 2], [nan, -3, 1], [0, 7, 2]])
    by_name = openml(tmp_path, id=None, dataset="weather", version=1)
    assert by_name.digest() == dataset.digest()
    asked = len(server.asked)
    assert openml(tmp_path, nominal=["code"]).categories[2] == ("1", "2")
    assert len(server.asked) == asked  # all of it came from the cache


BAD = {
    "unknown": ({"id": 8}, "OpenML returned no data set"),
    "no id": ({"id": None}, "give either id, or dataset and version; got neither"),
    "both": ({"dataset": "weather"}, "give either id, or dataset and version; got id and dataset"),
    "no version": ({"id": None, "dataset": "weather"}, "give either id, or dataset and version; got dataset"),
    "column": ({"drop": ["windy"]}, "column 'windy' was not found"),
    "option": ({"path": "x"}, "'path': unknown option"),
    "type": ({"id": "seven"}, "id: 'seven' is not valid; expected a whole number"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(server, tmp_path, case):
    changes, complaint = BAD[case]
    with pytest.raises(ValueError, match="data set W") as caught:
        openml(tmp_path, **changes)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_a_server_that_is_gone_is_one_line(server, tmp_path, monkeypatch):
    monkeypatch.setattr(_openml, "_DATA_INFO", "http://127.0.0.1:9/data/{}")
    with pytest.raises(ValueError, match="data set W: OpenML returned no data set"):
        openml(tmp_path)
