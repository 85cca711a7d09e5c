import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { LogPlace } from '../tables/event-table.ts';
import type { WantedFactory } from './wanted-factory.ts';

export interface WantedContract {
  readonly name: string;
  readonly chain: Chain;
  readonly addresses: readonly Address[];
  /** Null: the addresses emit the events. */
  readonly factory: WantedFactory | null;
  /** Parsed JSON, unchecked: an ABI, or an artifact with one. */
  readonly abi: unknown;
  readonly firstBlock: number | null;
  /** Names or signatures; null: all. */
  readonly events: readonly string[] | null;
  readonly indexed: readonly string[];
  /** Tables for functions that change state. @default false */
  readonly calls?: boolean;
  /** Since when events have this form, with as many indexed parameters. @default none */
  readonly upgrade?: LogPlace | null;
  /** Proxies' implementation: events have this form while a proxy has it. @default none */
  readonly implementation?: Address | null;
}

export function parseLogPlace(text: string): LogPlace | null {
  const [, block, log] = /^(\d{1,15}):(\d{1,9})$/.exec(text) ?? [];
  return block === undefined || log === undefined ? null : { block: Number(block), log: Number(log) };
}
