import { type Database, rawSql, type Sql, sql } from '@chainstead/db';
import { SLOTS, type SlotSpending } from './shared-budget.ts';
import { ATTENDANCE_SECONDS, type SpendingReport, type SpendingStore } from './spending-exchange.ts';

function exchange(reports: readonly SpendingReport[]): Sql {
  const [slots, lastSlot] = [rawSql(SLOTS), rawSql(SLOTS - 1)];
  return sql`WITH given AS (
  SELECT bucket, amount, slot_ms, floor(extract(epoch FROM clock_timestamp()) * 1000 / slot_ms)::bigint AS slot
  FROM unnest(${reports.map(({ bucket }) => bucket)}::text[], ${reports.map(({ amount }) => amount)}::float8[], ${reports.map(({ slotMs }) => slotMs)}::float8[]) AS report (bucket, amount, slot_ms)
)
INSERT INTO rate_limit_usage AS kept (bucket, slot, spent, expires_at)
SELECT bucket, slot,
  ARRAY(SELECT CASE WHEN place = mod(given.slot, ${slots}) THEN given.amount ELSE 0 END FROM generate_series(0, ${lastSlot}) AS place ORDER BY place),
  clock_timestamp() + make_interval(secs => slot_ms * ${slots} / 1000)
FROM given
ORDER BY bucket
ON CONFLICT (bucket) DO UPDATE SET
  slot = CASE WHEN kept.slot > excluded.slot + ${slots} THEN excluded.slot ELSE greatest(kept.slot, excluded.slot) END,
  spent = ARRAY(
    SELECT excluded.spent[place + 1] + CASE
      -- A clock that was set back far would keep what was spent for as long.
      WHEN kept.slot <= excluded.slot + ${slots} AND kept.slot - mod(kept.slot - place, ${slots}) > excluded.slot - ${slots}
      THEN kept.spent[place + 1] ELSE 0 END
    FROM generate_series(0, ${lastSlot}) AS place
    ORDER BY place
  ),
  expires_at = excluded.expires_at
RETURNING bucket, slot, spent, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;
}

/** No limit's bucket starts like this. */
const PROCESS = sql`'process:'`;

const FORGET = sql`DELETE FROM rate_limit_usage WHERE bucket IN (
  SELECT bucket FROM rate_limit_usage WHERE expires_at < clock_timestamp() ORDER BY bucket FOR UPDATE SKIP LOCKED
)`;

/** `rate_limit_usage` is UNLOGGED: after a Postgres crash the windows start empty. */
export function createPostgresSpendingStore({ database }: { readonly database: Database }): SpendingStore {
  return {
    async exchange(reports) {
      const rows = await database.query<{ bucket: string; slot: number; spent: number[]; now: number }>(
        exchange(reports),
      );
      const spendingOf = (newest: number, ring: readonly number[]): SlotSpending[] =>
        ring.flatMap((amount, index) =>
          amount === 0 ? [] : [{ slot: newest - ((newest - index) % SLOTS), amount }],
        );
      return {
        now: Math.max(...rows.map(({ now }) => now)),
        buckets: new Map(rows.map(({ bucket, slot, spent }) => [bucket, spendingOf(slot, spent)])),
      };
    },
    async attend(process) {
      await database.query(
        sql`INSERT INTO rate_limit_usage (bucket, slot, spent, expires_at)
         VALUES (${PROCESS} || ${process}::text, 0, '{}', clock_timestamp() + make_interval(secs => ${ATTENDANCE_SECONDS}))
         ON CONFLICT (bucket) DO UPDATE SET expires_at = excluded.expires_at`,
      );
      await database.query(FORGET);
      const [row] = await database.query<{ processes: number }>(
        sql`SELECT count(*)::int AS processes FROM rate_limit_usage
         WHERE starts_with(bucket, ${PROCESS}) AND expires_at >= clock_timestamp()`,
      );
      return Math.max(1, row?.processes ?? 1);
    },
  };
}
