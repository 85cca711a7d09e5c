import type { Clock } from '@chainstead/core';
import { createRateArbiter, createSlotArbiter, type TurnArbiter, type TurnMember, URGENCIES } from '@chainstead/rpc';
import type { RoleName } from '../configuration/index.ts';
import type { RoleMessage, TurnMessage } from './role-messages.ts';

/** A process that calls upstreams. */
export interface CallingProcess {
  readonly role: RoleName;
  send(message: RoleMessage): void;
}

/**
 * What upstreams allow (`RPC_RATE`, `RPC_CONCURRENCY`), for all processes of a start together. A process asks for turns, many at
 * a time, and is granted them as the limit allows: urgent ones (heads, blocks) first, then in turn by role, so that a backfill and
 * the gateway don't starve each other, however many processes a role has.
 */
export interface UpstreamBudgets {
  receive(process: CallingProcess, message: TurnMessage): void;
  /** It has ended: what it asked for is forgotten, and its requests in flight are over. */
  left(process: CallingProcess): void;
}

export function createUpstreamBudgets(clock: Pick<Clock, 'now'>): UpstreamBudgets {
  const arbiters = new Map<string, TurnArbiter>();
  const members = new Map<CallingProcess, Map<string, TurnMember>>();

  function memberOf(
    process: CallingProcess,
    { kind, upstream, limit }: Extract<TurnMessage, { limit: number }>,
  ): TurnMember {
    const key = `${kind} ${upstream}`;
    const own = members.get(process) ?? new Map<string, TurnMember>();
    members.set(process, own);
    const known = own.get(key);
    if (known !== undefined) return known;
    const arbiter = arbiters.get(key) ?? (kind === 'rate' ? createRateArbiter(limit, clock) : createSlotArbiter(limit));
    arbiters.set(key, arbiter);
    const member = arbiter.join({
      group: process.role,
      grant: (turns) => process.send({ type: 'turn-grant', kind, upstream, turns }),
    });
    own.set(key, member);
    return member;
  }

  return {
    receive(process, message) {
      if (message.type === 'turn-return') {
        const { kind, upstream, turns } = message;
        members.get(process)?.get(`${kind} ${upstream}`)?.giveBack(turns);
        return;
      }
      const member = memberOf(process, message);
      for (const urgency of URGENCIES) member.ask(message.asked[urgency], urgency);
    },
    left(process) {
      for (const member of members.get(process)?.values() ?? []) member.leave();
      members.delete(process);
    },
  };
}
