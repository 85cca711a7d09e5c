import { isObject } from '@chainstead/core';
import { type Check, isAbsent, mustBe, shown } from './parameter.ts';

/** No other members: nodes may read them, and the error classifier reads echoed text. */
export function membersOf(name: string, members: Readonly<Record<string, Check>>): Check {
  const checks = new Map(Object.entries(members));
  const bySmallName = new Map([...checks.keys()].map((member) => [member.toLowerCase(), member]));
  return (value) => {
    if (!isObject(value)) return mustBe(name, 'an object', value);
    for (const [given, member] of Object.entries(value)) {
      const check = checks.get(given);
      if (check === undefined) {
        const spelling = bySmallName.get(given.toLowerCase());
        return `${name} has no member ${shown(given)}${spelling === undefined ? '' : `; it is written ${spelling}`}`;
      }
      const problem = isAbsent(member) ? null : check(member);
      if (problem !== null) return problem;
    }
    return null;
  };
}

export function mapOf(name: string, checkKey: Check, checkMember: Check): Check {
  return (value) => {
    if (!isObject(value)) return mustBe(name, 'an object', value);
    for (const [key, member] of Object.entries(value)) {
      const problem = checkKey(key) ?? checkMember(member);
      if (problem !== null) return problem;
    }
    return null;
  };
}
