import type { Address, Hash, Hex } from '@chainstead/core';
import { customType } from 'drizzle-orm/pg-core';

/** 20 or 32 raw bytes. Text form in SQL: `\x` and hexadecimal digits. */
export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** `bytea` that rows hold as a lower-case address. */
export const address = customType<{ data: Address; driverData: Buffer }>({ dataType: () => 'bytea' });

/** `bytea` that rows hold as a lower-case hash. */
export const hash = customType<{ data: Hash; driverData: Buffer }>({ dataType: () => 'bytea' });

/** `bytea` of any length that rows hold as hexadecimal digits behind `0x`. */
export const hexadecimal = customType<{ data: Hex; driverData: Buffer }>({ dataType: () => 'bytea' });

/** A 256-bit unsigned amount in base units. Rows hold decimal digits. */
export const uint256 = customType<{ data: string; driverData: string }>({ dataType: () => 'numeric(78,0)' });

/** When a block was made. Rows hold ISO 8601 UTC with whole seconds. */
export const blockTime = customType<{ data: string; driverData: Date }>({ dataType: () => 'timestamp with time zone' });

/** A signed 64-bit integer. Rows hold decimal digits: it need not fit a JavaScript number. */
export const int8Text = customType<{ data: string; driverData: string }>({ dataType: () => 'bigint' });
