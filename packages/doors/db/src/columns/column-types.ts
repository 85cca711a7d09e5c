import type { Address, Hash, Hex } from '@chainstead/core';
import { customType } from 'drizzle-orm/pg-core';

/** 20 or 32 raw bytes. Text form in SQL: `\x` and hexadecimal digits. */
export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** `bytea`, in rows a lowercase address. */
export const address = customType<{ data: Address; driverData: Buffer }>({ dataType: () => 'bytea' });

/** `bytea`, in rows a lowercase hash. */
export const hash = customType<{ data: Hash; driverData: Buffer }>({ dataType: () => 'bytea' });

/** `bytea` of any length, in rows `0x` and hexadecimal digits. */
export const hexadecimal = customType<{ data: Hex; driverData: Buffer }>({ dataType: () => 'bytea' });

/** A 256-bit unsigned amount in base units. Rows contain decimal digits. */
export const uint256 = customType<{ data: string; driverData: string }>({ dataType: () => 'numeric(78,0)' });

/** Rows contain ISO 8601 UTC with whole seconds. */
export const blockTime = customType<{ data: string; driverData: Date }>({ dataType: () => 'timestamp with time zone' });

/** Rows contain decimal digits, because it may exceed a JavaScript number. */
export const int8Text = customType<{ data: string; driverData: string }>({ dataType: () => 'bigint' });
