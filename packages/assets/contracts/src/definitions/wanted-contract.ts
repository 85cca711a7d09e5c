import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { LogPlace } from '../tables/event-table.ts';
import type { WantedFactory } from './wanted-factory.ts';

export interface WantedContract {
  readonly name: string;
  readonly chain: Chain;
  readonly addresses: readonly Address[];
  /** Null: the addresses emit the events of the ABI. */
  readonly factory: WantedFactory | null;
  /** Parsed JSON: an ABI, or an artifact that contains one. Not checked yet. */
  readonly abi: unknown;
  readonly firstBlock: number | null;
  /** Names or signatures of the wanted events; null: all. */
  readonly events: readonly string[] | null;
  readonly indexed: readonly string[];
  /** Whether calls of the functions that change state get tables. @default false */
  readonly calls?: boolean;
  /** Log since which events have the form of this ABI, if the number of their indexed parameters is as before. @default none */
  readonly upgrade?: LogPlace | null;
  /** Implementation of the proxies that the ABI belongs to. Events have its form while a proxy has it. @default none */
  readonly implementation?: Address | null;
}

export function parseLogPlace(text: string): LogPlace | null {
  const [, block, log] = /^(\d{1,15}):(\d{1,9})$/.exec(text) ?? [];
  return block === undefined || log === undefined ? null : { block: Number(block), log: Number(log) };
}
