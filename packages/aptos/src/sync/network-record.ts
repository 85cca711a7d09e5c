/** A network's row in `aptos_networks`: where history begins, what the fullnodes say, and why it does not move. */
import type { ChainsteadError } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { FullnodeStatus } from '../fullnode/fullnode-state.ts';
import type { LedgerReach } from '../fullnode/fullnodes.ts';
import { chainIdOf } from '../fullnode/network.ts';
import type { AptosNetwork } from '../transaction.ts';

export interface NetworkStart {
  readonly historyStart: number;
  readonly firstFollowed: number;
}

/** Null before the first start. */
export async function readNetworkStart(database: Database, network: AptosNetwork): Promise<NetworkStart | null> {
  const [row] = await database.query<{ history_start: number; first_followed: number }>(
    'SELECT history_start, first_followed FROM aptos_networks WHERE network = $1',
    [network],
  );
  return row === undefined ? null : { historyStart: row.history_start, firstFollowed: row.first_followed };
}

/** Where following began stays as it was at the first start. A stop is over by now. */
export async function saveNetworkStart(database: Database, network: AptosNetwork, start: NetworkStart): Promise<void> {
  await database.query(
    `INSERT INTO aptos_networks (network, chain_id, history_start, first_followed) VALUES ($1, $2, $3, $4)
     ON CONFLICT (network) DO UPDATE SET
       history_start = excluded.history_start, stop_code = NULL, stop_message = NULL, updated_at = now()`,
    [network, chainIdOf(network), start.historyStart, start.firstFollowed],
  );
}

export async function saveHealth(
  database: Database,
  network: AptosNetwork,
  health: {
    readonly reach: LedgerReach | null;
    readonly fullnodes: readonly FullnodeStatus[];
    /** Undefined: as it stands. */
    readonly stallReason: string | null | undefined;
  },
): Promise<void> {
  await database.query(
    `UPDATE aptos_networks SET head = coalesce($2, head), oldest = coalesce($3, oldest), fullnodes = $4,
            stall_reason = CASE WHEN $5::boolean THEN $6 ELSE stall_reason END, updated_at = now()
      WHERE network = $1`,
    [
      network,
      health.reach?.head ?? null,
      health.reach?.oldest ?? null,
      JSON.stringify(health.fullnodes),
      health.stallReason !== undefined,
      health.stallReason ?? null,
    ],
  );
}

/** Why nothing, or not everything, will be indexed until the operator does something. */
export async function saveStop(database: Database, network: AptosNetwork, error: ChainsteadError): Promise<void> {
  await database.query(
    'UPDATE aptos_networks SET stop_code = $2, stop_message = $3, updated_at = now() WHERE network = $1',
    [network, error.code, error.message],
  );
}

/** What was missing is there. */
export async function clearStop(database: Database, network: AptosNetwork): Promise<void> {
  await database.query('UPDATE aptos_networks SET stop_code = NULL, stop_message = NULL WHERE network = $1', [network]);
}

/** Why the work was interrupted. Before the first start there is no row to say so in, and the log has to do. */
export async function saveStall(database: Database, network: AptosNetwork, reason: string): Promise<void> {
  await database.query('UPDATE aptos_networks SET stall_reason = $2, updated_at = now() WHERE network = $1', [
    network,
    reason,
  ]);
}
