import { createHash } from 'node:crypto';
import type { Clock } from '@chainstead/core';
import { type CallTurns, createLeasedPace, createLeasedSlots, type TurnMember, type Urgency } from '@chainstead/rpc';
import type { RoleMessage, TurnMessage } from './role-messages.ts';

/** The limits of upstreams in a process whose supervisor grants the turns. */
export interface SupervisedTurns extends CallTurns {
  /** To be told of every `turn-grant` that arrives. */
  receive(message: Extract<RoleMessage, { type: 'turn-grant' }>): void;
}

/** @param send to the supervisor */
export function createSupervisedTurns(
  send: (message: TurnMessage) => void,
  clock: Pick<Clock, 'now'>,
): SupervisedTurns {
  const paces = new Map<string, ReturnType<typeof createLeasedPace>>();
  const slots = new Map<string, ReturnType<typeof createLeasedSlots>>();
  const memberOf = (kind: TurnMessage['kind'], upstream: string, limit: number): Pick<TurnMember, 'ask' | 'giveBack'> =>
    sendTogether({
      ask: (asked) => send({ type: 'turn-ask', kind, upstream, limit, asked }),
      giveBack: (turns) => send({ type: 'turn-return', kind, upstream, turns }),
    });
  return {
    paceOf({ url, requestsPerSecond }) {
      if (requestsPerSecond === undefined) return null;
      const upstream = hashOf(url, requestsPerSecond);
      return orAdded(paces, upstream, () => {
        const member = memberOf('rate', upstream, requestsPerSecond);
        return createLeasedPace({ ratePerSecond: requestsPerSecond, clock, member });
      });
    },
    slotsOf({ url, concurrency }) {
      if (concurrency === undefined) return null;
      const upstream = hashOf(url, concurrency);
      return orAdded(slots, upstream, () => createLeasedSlots(memberOf('slots', upstream, concurrency)));
    },
    receive({ kind, upstream, turns }) {
      (kind === 'rate' ? paces : slots).get(upstream)?.granted(turns);
    },
  };
}

/** With the limit: where chains that share a URL have limits of their own, each holds. */
function hashOf(url: string, limit: number): string {
  return createHash('sha256').update(`${url} ${limit}`).digest('base64url');
}

function orAdded<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** What happens in one turn of the event loop is one message of each kind. */
function sendTogether(send: {
  ask(asked: Record<Urgency, number>): void;
  giveBack(turns: number): void;
}): Pick<TurnMember, 'ask' | 'giveBack'> {
  let asked: Record<Urgency, number> = { urgent: 0, normal: 0, ahead: 0 };
  let returned = 0;
  let isScheduled = false;

  function flush(): void {
    isScheduled = false;
    const [sent, back] = [asked, returned];
    asked = { urgent: 0, normal: 0, ahead: 0 };
    returned = 0;
    if (back > 0) send.giveBack(back);
    if (Object.values(sent).some((turns) => turns !== 0)) send.ask(sent);
  }

  function schedule(): void {
    if (!isScheduled) setImmediate(flush);
    isScheduled = true;
  }

  return {
    ask(turns, urgency) {
      asked[urgency] += turns;
      schedule();
    },
    giveBack(turns) {
      returned += turns;
      schedule();
    },
  };
}
