import type { Urgency } from './call-turns.ts';

/** Somebody who asks for turns. */
export interface Claim {
  /** Groups have the same share, however many are in each. */
  readonly group: string;
  /** What it asks for and was not granted yet. */
  readonly asked: Record<Urgency, number>;
}

/** Whose turn it is, and of what it asked for. */
export interface Turn {
  readonly claim: Claim;
  readonly urgency: Urgency;
}

/** Whose turn it is, among all who ask. */
export interface Claims {
  add(claim: Claim): void;
  remove(claim: Claim): void;
  /** Takes one off what the next one asks for; null when nobody asks. @param urgencies those that count, first things first */
  next(urgencies: readonly Urgency[]): Turn | null;
  isAsked(urgencies: readonly Urgency[]): boolean;
}

/** History is read with urgency, too: after so many urgent turns in a row, one goes to somebody else who waits. */
const URGENT_IN_A_ROW = 3;

/** What is urgent goes first; among the same it goes in turn by group, and in a group by claim. Nobody who waits is starved. */
export function createClaims(): Claims {
  /** Who was served longest ago comes first. */
  const groups: Claim[][] = [];
  let urgentInARow = 0;

  function nextOf(urgency: Urgency): Claim | undefined {
    for (const [place, claims] of groups.entries()) {
      const index = claims.findIndex(({ asked }) => asked[urgency] > 0);
      const [claim] = index < 0 ? [] : claims.splice(index, 1);
      if (claim === undefined) continue;
      claims.push(claim);
      groups.push(...groups.splice(place, 1));
      claim.asked[urgency] -= 1;
      return claim;
    }
    return undefined;
  }

  return {
    add(claim) {
      const known = groups.find(([first]) => first?.group === claim.group);
      if (known === undefined) groups.push([claim]);
      else known.push(claim);
    },
    remove(claim) {
      const place = groups.findIndex((claims) => claims.includes(claim));
      const claims = groups[place];
      if (claims === undefined) return;
      claims.splice(claims.indexOf(claim), 1);
      if (claims.length === 0) groups.splice(place, 1);
    },
    next(urgencies) {
      const isOthersTurn = urgentInARow >= URGENT_IN_A_ROW && urgencies.includes('normal');
      for (const urgency of isOthersTurn ? (['normal', ...urgencies] as const) : urgencies) {
        const claim = nextOf(urgency);
        if (claim === undefined) continue;
        urgentInARow = urgency === 'urgent' ? urgentInARow + 1 : 0;
        return { claim, urgency };
      }
      return null;
    },
    isAsked: (urgencies) =>
      groups.some((claims) => claims.some(({ asked }) => urgencies.some((urgency) => asked[urgency] > 0))),
  };
}
