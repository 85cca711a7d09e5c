import type { Address, Hash, Hex } from '@chainstead/core';
import { customType } from 'drizzle-orm/pg-core';

/** 20 or 32 bytes. Text form in SQL: `\x` and digits. */
export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

export const address = customType<{ data: Address; driverData: Buffer }>({ dataType: () => 'bytea' });

export const hash = customType<{ data: Hash; driverData: Buffer }>({ dataType: () => 'bytea' });

export const hexadecimal = customType<{ data: Hex; driverData: Buffer }>({ dataType: () => 'bytea' });

/** Decimal digits in rows, base units. */
export const uint256 = customType<{ data: string; driverData: string }>({ dataType: () => 'numeric(78,0)' });

/** ISO 8601 UTC with whole seconds in rows. */
export const blockTime = customType<{ data: string; driverData: Date }>({ dataType: () => 'timestamp with time zone' });

/** Decimal digits in rows: it may exceed a number. */
export const int8Text = customType<{ data: string; driverData: string }>({ dataType: () => 'bigint' });
