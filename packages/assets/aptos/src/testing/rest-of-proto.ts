/** Converts transactions of the indexer stream (proto-json) to the form of `/v1/transactions`. */
import { jsonObject } from '../rows/insert-rows.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the members of a transaction that derivation reads, in REST form. */
export function restOfProto(value: unknown): Json {
  const proto = object(value);
  const info = object(proto.info);
  const kind = String(proto.type).replace('TRANSACTION_TYPE_', '').toLowerCase();
  const body = object(proto[kind]);
  const request = object(body.request);
  return {
    type: kind === 'block_metadata' ? 'block_metadata_transaction' : `${kind}_transaction`,
    version: String(proto.version),
    accumulator_root_hash: `0x${Buffer.from(String(info.accumulatorRootHash), 'base64').toString('hex')}`,
    success: info.success === true,
    gas_used: String(info.gasUsed ?? '0'),
    changes: list(info.changes).map(changeOf),
    events: list(body.events).map(eventOf),
    ...(kind !== 'genesis' && { timestamp: microseconds(object(proto.timestamp)) }),
    ...(kind === 'user' && {
      sender: request.sender,
      sequence_number: String(request.sequenceNumber ?? '0'),
      gas_unit_price: String(request.gasUnitPrice ?? '0'),
      payload: payloadOf(object(request.payload)),
    }),
  };
}

function changeOf(change: Json): Json {
  const type = String(change.type).replace('TYPE_', '').toLowerCase();
  const written = object(change.writeResource);
  const deleted = object(change.deleteResource);
  if (type === 'write_resource')
    return {
      type,
      address: written.address,
      data: { type: written.typeStr, data: JSON.parse(String(written.data)) },
    };
  return type === 'delete_resource' ? { type, address: deleted.address, resource: deleted.typeStr } : { type };
}

function eventOf(event: Json): Json {
  const key = object(event.key);
  return {
    guid: { creation_number: String(key.creationNumber ?? '0'), account_address: key.accountAddress },
    sequence_number: String(event.sequenceNumber ?? '0'),
    type: event.typeStr,
    data: JSON.parse(String(event.data)),
  };
}

function payloadOf(payload: Json): Json | null {
  const { entryFunctionIdStr } = object(payload.entryFunctionPayload);
  return entryFunctionIdStr === undefined
    ? null
    : { type: 'entry_function_payload', function: entryFunctionIdStr };
}

function microseconds(timestamp: Json): string {
  return (
    BigInt(String(timestamp.seconds)) * 1_000_000n +
    BigInt(Number(timestamp.nanos ?? 0)) / 1_000n
  ).toString();
}

function object(value: unknown): Json {
  return jsonObject(value) ?? {};
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}
