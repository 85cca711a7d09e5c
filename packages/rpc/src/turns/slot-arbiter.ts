import type { TurnArbiter, Urgency } from './call-turns.ts';
import { type Claim, createClaims } from './claims.ts';

const URGENT: readonly Urgency[] = ['urgent'];
const ANY: readonly Urgency[] = ['urgent', 'normal'];
/** The part of the slots that only urgent requests take: answers that stream to slow clients must not hold up heads. */
const RESERVED_SHARE = 1 / 8;

/** What a member has in flight. */
interface Holder {
  urgent: number;
  normal: number;
  grant(turns: number): void;
}

/**
 * Grants slots for requests to one upstream to all who make some, so that no more are in flight than it allows.
 * @param slots how many; of two or more, an eighth but at least one is for urgent requests alone
 */
export function createSlotArbiter(slots: number): TurnArbiter {
  const claims = createClaims();
  const normalMax = slots < 2 ? slots : slots - Math.max(1, Math.floor(slots * RESERVED_SHARE));
  const holders = new Map<Claim, Holder>();
  let free = slots;
  let normal = 0;

  function share(): void {
    const granted = new Map<Holder, number>();
    while (free > 0) {
      const turn = claims.next(normal < normalMax ? ANY : URGENT);
      const holder = turn === null ? undefined : holders.get(turn.claim);
      if (turn === null || holder === undefined) break;
      free -= 1;
      if (turn.urgency === 'urgent') holder.urgent += 1;
      else {
        holder.normal += 1;
        normal += 1;
      }
      granted.set(holder, (granted.get(holder) ?? 0) + 1);
    }
    for (const [holder, turns] of granted) holder.grant(turns);
  }

  /** Which of its requests are over a member doesn't tell: counted as urgent first, those that are not never take the room of those that are. */
  function release(holder: Holder, turns: number): void {
    const urgent = Math.min(turns, holder.urgent);
    const others = Math.min(turns - urgent, holder.normal);
    holder.urgent -= urgent;
    holder.normal -= others;
    normal -= others;
    free += urgent + others;
  }

  return {
    join({ group, grant }) {
      const claim: Claim = { group, asked: { urgent: 0, normal: 0, ahead: 0 } };
      const holder: Holder = { urgent: 0, normal: 0, grant };
      claims.add(claim);
      holders.set(claim, holder);
      return {
        ask(turns, urgency) {
          claim.asked[urgency] = Math.max(0, claim.asked[urgency] + turns);
          if (turns > 0) share();
        },
        giveBack(turns) {
          release(holder, turns);
          share();
        },
        leave() {
          claims.remove(claim);
          holders.delete(claim);
          release(holder, holder.urgent + holder.normal);
          share();
        },
      };
    },
  };
}
