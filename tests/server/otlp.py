"""Decodes requests of OTLP/HTTP with OpenTelemetry's definitions, and refuses unknown fields."""

import base64
import json
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def decode_spans(body: bytes) -> list[Any]:
    members = json.loads(body, object_hook=_with_base64_ids)
    request: Any = ParseDict(members, ExportTraceServiceRequest())
    return [
        span
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _with_base64_ids(members: dict[str, Any]) -> dict[str, Any]:
    """OTLP writes ids in hexadecimal; the JSON of protobuf has base64 for all bytes."""
    return {
        name: base64.b64encode(bytes.fromhex(value)).decode()
        if name in ("traceId", "spanId", "parentSpanId")
        else value
        for name, value in members.items()
    }
