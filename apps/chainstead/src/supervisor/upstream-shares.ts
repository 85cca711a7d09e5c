import { splitLimit } from '@chainstead/rpc/pool';
import type { RoleName } from '../configuration/index.ts';
import type { LimitReport, LimitShare } from './metrics-exchange.ts';

export interface CallingProcess {
  readonly role: RoleName;
  send(message: LimitShare): void;
}

/**
 * By demand, in equal parts by role. A share changes in one direction until the next division, so
 * messages can't cause each other without end. Increases wait for acknowledged reductions.
 */
export interface UpstreamShares {
  receive(process: CallingProcess, message: LimitReport): void;
  left(process: CallingProcess): void;
}

/** In units of the limit. */
interface Member {
  readonly process: CallingProcess;
  wanted: number;
  /** Share by the last division. */
  target: number;
  /** Share that was sent last, and its message's number. */
  share: number;
  number: number;
  /** The most that it may be using. */
  held: number;
  /** Order of its last begin or end of holding. */
  since: number;
}

interface Limit {
  readonly upstream: string;
  readonly units: number;
  readonly members: Map<CallingProcess, Member>;
  timer?: NodeJS.Timeout;
}

/** Between divisions of a limit. */
const INTERVAL_MS = 100;

export function createUpstreamShares(): UpstreamShares {
  const limits = new Map<string, Limit>();
  const departed = new WeakSet<CallingProcess>();
  let events = 0;

  function hold(member: Member, units: number): void {
    if (units > 0 !== member.held > 0) member.since = ++events;
    member.held = units;
  }

  function isShort({ wanted, share }: Member, { members, units }: Limit): boolean {
    return wanted > share || (share === 0 && members.size <= units);
  }

  function divide(limit: Limit): void {
    // The longest-waiting process is first, the longest-holding one last.
    const rank = ({ held, since }: Member): number => (held === 0 ? since : 2 * events - since);
    const ordered = [...limit.members.values()].toSorted((a, b) => rank(a) - rank(b));
    const demands = ordered.map(({ process, wanted }) => ({ group: process.role, wanted }));
    for (const [index, target] of splitLimit(limit.units, demands).entries()) {
      const member = ordered[index];
      if (member !== undefined) member.target = target;
    }
  }

  function settle({ upstream, units, members }: Limit): void {
    let free = units - members.values().reduce((sum, { held }) => sum + held, 0);
    for (const member of members.values()) {
      const share = Math.min(member.target, member.held + free);
      if (share === member.share) continue;
      free -= Math.max(0, share - member.held);
      hold(member, Math.max(share, member.held));
      member.share = share;
      member.number += 1;
      member.process.send({ type: 'limit-share', upstream, share, number: member.number });
    }
  }

  function update(limit: Limit): void {
    if (limit.timer === undefined && limit.members.values().some((member) => isShort(member, limit))) {
      divide(limit);
      limit.timer = setTimeout(() => {
        delete limit.timer;
        update(limit);
      }, INTERVAL_MS).unref();
    }
    settle(limit);
  }

  return {
    receive(process, { upstream, units, wanted, held, number }) {
      // A message may arrive after the end of its process.
      if (departed.has(process)) return;
      const limit: Limit = limits.get(upstream) ?? { upstream, units, members: new Map() };
      limits.set(upstream, limit);
      const added: Member = { process, wanted, target: 0, share: 0, number: 0, held: 0, since: ++events };
      const member = limit.members.get(process) ?? added;
      limit.members.set(process, member);
      member.wanted = wanted;
      // A message sent before the newest share arrived does not describe it.
      if (number === member.number) hold(member, held);
      update(limit);
    },
    left(process) {
      departed.add(process);
      for (const limit of limits.values()) if (limit.members.delete(process)) update(limit);
    },
  };
}
