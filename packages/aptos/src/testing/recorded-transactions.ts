/** The given Aptos transactions as derivation takes them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decimalDigits, jsonObject } from '../rows/json-object.ts';
import type { AptosChange, AptosEvent, AptosNetwork, AptosTransaction } from '../transaction.ts';
import { restOfProto } from './rest-of-proto.ts';

/** Folder of the recorded transactions beside the repository, or null where it was not given. */
export function recordedAptosFolder(): string | null {
  const folder = fileURLToPath(new URL('../../../../../shared/data/aptos', import.meta.url));
  return existsSync(folder) ? folder : null;
}

/** All transactions of a network, by version. Of mainnet and testnet they are in REST form already. */
export function recordedTransactions(folder: string, network: AptosNetwork): readonly AptosTransaction[] {
  return readTransactions(join(folder, `rest-derived/${network}_transactions.json`));
}

/** The transactions of a file that holds one or a list of them, in REST form. */
export function readTransactions(file: string): readonly AptosTransaction[] {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return (Array.isArray(content) ? content : [content]).map(transactionOf);
}

/** The transactions of a folder of proto-json files, turned into REST form. */
export function readProtoTransactions(folder: string): readonly AptosTransaction[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => transactionOf(restOfProto(JSON.parse(readFileSync(join(folder, name), 'utf8')))));
}

/** A transaction of `/v1/transactions`. */
export function transactionOf(value: unknown): AptosTransaction {
  const rest = jsonObject(value) ?? {};
  const payload = jsonObject(rest.payload);
  return {
    type: String(rest.type),
    version: Number(rest.version),
    accumulatorRootHash: String(rest.accumulator_root_hash),
    timestamp: typeof rest.timestamp === 'string' ? BigInt(rest.timestamp) : null,
    success: rest.success === true,
    changes: (rest.changes ?? []) as readonly AptosChange[],
    events: (rest.events ?? []) as readonly AptosEvent[],
    sender: typeof rest.sender === 'string' ? rest.sender : null,
    sequenceNumber: decimalDigits(rest.sequence_number),
    gasUsed: decimalDigits(rest.gas_used),
    gasUnitPrice: decimalDigits(rest.gas_unit_price),
    entryFunction: typeof payload?.function === 'string' ? payload.function : null,
  };
}
