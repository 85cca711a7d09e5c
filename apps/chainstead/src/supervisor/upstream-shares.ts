import { splitLimit } from '@chainstead/rpc';
import type { RoleName } from '../configuration/index.ts';
import type { LimitReport, LimitShare } from './role-messages.ts';

/** A process that calls upstreams. */
export interface CallingProcess {
  readonly role: RoleName;
  send(message: LimitShare): void;
}

/**
 * Divides the limits of upstreams (`RPC_RATE`, `RPC_CONCURRENCY`) between the processes of a start, by their demand and in equal
 * parts by role. Shares change only while a process wants more than it has. The sum is never above the limit: an increase is sent
 * when the reduction that it needs was acknowledged.
 */
export interface UpstreamShares {
  receive(process: CallingProcess, message: LimitReport): void;
  /** The process has ended: its shares are free. */
  left(process: CallingProcess): void;
}

/** One process and one limit, in units of it. */
interface Member {
  readonly process: CallingProcess;
  wanted: number;
  /** The share that was sent last, and the number of that message. */
  share: number;
  number: number;
  /** The most that it may be using. */
  held: number;
  /** When it began to hold something, or nothing, in the order of such events. */
  since: number;
}

interface Limit {
  readonly upstream: string;
  readonly units: number;
  readonly members: Map<CallingProcess, Member>;
}

export function createUpstreamShares(): UpstreamShares {
  const limits = new Map<string, Limit>();
  const departed = new WeakSet<CallingProcess>();
  let events = 0;

  function hold(member: Member, units: number): void {
    if (units > 0 !== member.held > 0) member.since = ++events;
    member.held = units;
  }

  function divide({ upstream, units, members }: Limit): void {
    const isShort = ({ wanted, share }: Member): boolean => wanted > share || (share === 0 && members.size <= units);
    if (!members.values().some(isShort)) return;
    // If units are few: who has waited longest is first, who has held something longest is last.
    const rank = ({ held, since }: Member): number => (held === 0 ? since : 2 * events - since);
    const ordered = [...members.values()].toSorted((a, b) => rank(a) - rank(b));
    const shares = splitLimit(
      units,
      ordered.map(({ process, wanted }) => ({ group: process.role, wanted })),
    );
    let free = units - ordered.reduce((sum, { held }) => sum + held, 0);
    for (const [index, member] of ordered.entries()) {
      const share = Math.min(shares[index] ?? 0, member.held + free);
      if (share === member.share) continue;
      free -= Math.max(0, share - member.held);
      hold(member, Math.max(share, member.held));
      member.share = share;
      member.number += 1;
      member.process.send({ type: 'limit-share', upstream, share, number: member.number });
    }
  }

  return {
    receive(process, { upstream, units, wanted, held, number }) {
      // A message may arrive after the end of its process.
      if (departed.has(process)) return;
      const limit: Limit = limits.get(upstream) ?? { upstream, units, members: new Map() };
      limits.set(upstream, limit);
      const added: Member = { process, wanted, share: 0, number: 0, held: 0, since: ++events };
      const member = limit.members.get(process) ?? added;
      limit.members.set(process, member);
      member.wanted = wanted;
      // A message that crossed the newest share tells nothing about it.
      if (number === member.number) hold(member, held);
      divide(limit);
    },
    left(process) {
      departed.add(process);
      for (const limit of limits.values()) if (limit.members.delete(process)) divide(limit);
    },
  };
}
