import { itemTypeOf, type SelectorType } from '../item-types.ts';

/** Whether a text is meant as a selector. */
export function isSelector(text: string): boolean {
  return text.startsWith('$');
}

/** What is wrong with a selector of items of this type, or null. `address`: where an address has to come out. */
export function selectorProblem(type: SelectorType, selector: string, kind: 'address' | 'any'): string | null {
  const { addresses, others } = itemTypeOf(type);
  const name = selector.slice(1);
  const allowed: readonly string[] = kind === 'address' ? addresses : [...addresses, ...others];
  if (isSelector(selector) && allowed.includes(name)) return null;
  const list = allowed.map((field) => `$${field}`).join(', ');
  return `must be a selector of ${kind === 'address' ? 'an address' : 'a member'} of type ${type}: ${list}`;
}
