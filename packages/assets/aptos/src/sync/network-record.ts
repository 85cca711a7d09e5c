import type { ChainsteadError } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { FullnodeStatus } from '../fullnode/fullnode-state.ts';
import type { LedgerReach } from '../fullnode/fullnodes.ts';
import { chainIdOf } from '../fullnode/network.ts';
import type { AptosNetwork } from '../transaction.ts';

export interface NetworkStart {
  readonly historyStart: number;
  readonly firstFollowed: number;
}

export async function readNetworkStart(database: Database, network: AptosNetwork): Promise<NetworkStart | null> {
  const [row] = await database.query<NetworkStart>(
    sql`SELECT history_start, first_followed FROM aptos_networks WHERE network = ${network}`,
  );
  return row ?? null;
}

/** Keeps the first followed version, clears a stop. */
export async function saveNetworkStart(
  database: Database,
  network: AptosNetwork,
  start: NetworkStart,
): Promise<void> {
  await database.query(
    sql`INSERT INTO aptos_networks (network, chain_id, history_start, first_followed) VALUES (${network}, ${chainIdOf(network)}, ${start.historyStart}, ${start.firstFollowed})
     ON CONFLICT (network) DO UPDATE SET
       history_start = excluded.history_start, stop_code = NULL, stop_message = NULL, updated_at = now()`,
  );
}

export async function saveHealth(
  database: Database,
  network: AptosNetwork,
  health: {
    readonly reach: LedgerReach | null;
    readonly fullnodes: readonly FullnodeStatus[];
    /** Undefined: unchanged. */
    readonly stallReason: string | null | undefined;
  },
): Promise<void> {
  await database.query(
    sql`UPDATE aptos_networks SET head = coalesce(${health.reach?.head ?? null}, head), oldest = coalesce(${health.reach?.oldest ?? null}, oldest), fullnodes = ${JSON.stringify(health.fullnodes)},
            stall_reason = CASE WHEN ${health.stallReason !== undefined}::boolean THEN ${health.stallReason ?? null} ELSE stall_reason END, updated_at = now()
      WHERE network = ${network}`,
  );
}

export async function saveStop(database: Database, network: AptosNetwork, error: ChainsteadError): Promise<void> {
  await database.query(
    sql`UPDATE aptos_networks SET stop_code = ${error.code}, stop_message = ${error.message}, updated_at = now() WHERE network = ${network}`,
  );
}

export async function clearStop(database: Database, network: AptosNetwork): Promise<void> {
  await database.query(
    sql`UPDATE aptos_networks SET stop_code = NULL, stop_message = NULL WHERE network = ${network}`,
  );
}

/** No row before the first start: then only in the application log. */
export async function saveStall(database: Database, network: AptosNetwork, reason: string): Promise<void> {
  await database.query(
    sql`UPDATE aptos_networks SET stall_reason = ${reason}, updated_at = now() WHERE network = ${network}`,
  );
}
