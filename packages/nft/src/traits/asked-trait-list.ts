import { z } from '@hono/zod-openapi';
import { type Trait, traitAsStored, traitName } from '../records/trait.ts';

/** Traits that one question may name, as at the hosted provider. */
const ASKED_MAX = 25;
const ALLOWED = `an object that names 1 to ${ASKED_MAX} traits with their values, such as {"Background":"Blue"}`;

const VALUE = 'text, a number or a boolean';
const EXACT = 'a whole number up to 2^53, or a larger one as text: reading JSON has changed it';

/** The body of `getNFTByContractTraits`: trait type to value, all of which an NFT must have. Other members are ignored. */
export const askedTraitsSchema = z
  .object({
    traits: z
      .unknown()
      .transform((given, ctx): Readonly<Record<string, string>> => {
        const refuse = (value: unknown, allowed: string, path: string[] = []): void =>
          ctx.addIssue({ code: 'custom', message: `must be ${allowed}`, path, params: { allowed, given: value } });
        const named = typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : [];
        if (given === undefined) ctx.addIssue({ code: 'invalid_type', expected: 'object', input: given });
        else if (named.length < 1 || named.length > ASKED_MAX) refuse(given, ALLOWED);
        // Of too many, no value is looked at.
        for (const [type, value] of named.slice(0, ASKED_MAX)) {
          if (!['string', 'number', 'boolean'].includes(typeof value)) refuse(value, VALUE, [type]);
          if (isInexact(value)) refuse(value, EXACT, [type]);
        }
        return Object.fromEntries(named.map(([type, value]) => [type, String(value)]));
      })
      .openapi({
        type: 'object',
        additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
        minProperties: 1,
        maxProperties: ASKED_MAX,
        description: `1 to ${ASKED_MAX} traits, by type; letter case counts. Numbers and booleans count by their text`,
        example: { Background: 'Blue' },
      }),
  })
  .openapi('NftTraitsQuestion');

/** Whether reading the body may have changed it. */
function isInexact(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** The traits that a body asks for, each once, in an order of their own. */
export function askedTraits({ traits }: z.infer<typeof askedTraitsSchema>): readonly Trait[] {
  const asked = Object.entries(traits).map(([type, value]) => traitAsStored({ type, value }));
  const unique = new Map(asked.map((trait) => [traitName(trait), trait]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trait]) => trait);
}
