import type { Address, Hash, Hex } from '@chainstead/core';
import { bigint, customType, integer, timestamp } from 'drizzle-orm/pg-core';

/** 20 or 32 bytes. Text form in SQL: `\x` and digits. */
export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

export const address = fixedBytes<Address>(20);

export const hash = fixedBytes<Hash>(32);

export const hexadecimal = customType<{ data: Hex; driverData: Buffer }>({ dataType: () => 'bytea' });

/** Decimal digits in rows, base units. */
export const uint256 = customType<{ data: string; driverData: string }>({ dataType: () => 'numeric(78,0)' });

/** ISO 8601 UTC with whole seconds in rows. */
export const blockTime = customType<{ data: string; driverData: Date }>({
  dataType: () => 'timestamp with time zone',
});

/** Decimal digits in rows: it may exceed a number. */
export const int8Text = customType<{ data: string; driverData: string }>({ dataType: () => 'bigint' });

export const int8 = (name: string) => bigint(name, { mode: 'number' });

export const moment = (name: string) => timestamp(name, { withTimezone: true });

export const chainId = () => int8('chain_id').notNull();

/** The log's index is unique within its transaction on every chain, within its block on most. */
export const logPlace = () => ({
  chainId: chainId(),
  blockNumber: integer('block_number').notNull(),
  transactionIndex: integer('transaction_index').notNull(),
  logIndex: integer('log_index').notNull(),
});

const widths = new WeakMap<object, number>();

/** In bytes, of an `address` or a `hash` of a `storedTable`. */
export function widthOf(column: object): number | undefined {
  return widths.get(column);
}

export function keepWidth(builder: object, column: object): void {
  const width = widths.get(builder);
  if (width !== undefined) widths.set(column, width);
}

function fixedBytes<Text extends string>(width: number) {
  const typed = customType<{ data: Text; driverData: Buffer }>({ dataType: () => 'bytea' });
  return (name: string) => {
    const column = typed(name);
    widths.set(column, width);
    return column;
  };
}

/**
 * First and last four bytes as a signed integer; `address_key(bytea)` in SQL. Not unique.
 * @example addressKey('0x00000000000000000000000000000000000000ff') // '255'
 */
export function addressKey(address: Address): string {
  return BigInt.asIntN(64, BigInt(address.slice(0, 10) + address.slice(34))).toString();
}

/** Stored. A self-transfer is one row. */
export const DIRECTION = { sent: 0, received: 1, self: 2 } as const;

export type Direction = (typeof DIRECTION)[keyof typeof DIRECTION];

export const IS_GIVING_SIDE = `direction <> ${DIRECTION.received}`;
