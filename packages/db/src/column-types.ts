import { customType } from 'drizzle-orm/pg-core';

/** 20 or 32 raw bytes. Text form in SQL: `\x` and hexadecimal digits. */
export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** A 256-bit unsigned amount in base units. */
export const uint256 = customType<{ data: string; driverData: string }>({ dataType: () => 'numeric(78,0)' });
