import { COIN_TYPE_LENGTH_MAX } from '../coins/dataset.ts';
import { documented, lengthProblems, type Parameter, type ParameterFacts, type Reading } from './parameter.ts';

export interface Item {
  readonly facts: ParameterFacts;
  problems(text: string, subject: string): readonly string[];
  normalize(text: string): string;
}

export const LIST_LENGTH_MAX = 25;

export const addressItem: Item = {
  facts: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
  problems: (text, subject) => [
    ...(text.length === ADDRESS_LENGTH ? [] : [`${subject} must be ${ADDRESS_LENGTH} characters`]),
    ...mustMatch(text, subject, /^0x[0-9a-fA-F]*$/),
  ],
  normalize: (text) => text.toLowerCase(),
};

export const coinTypeHashItem: Item = {
  facts: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
  problems: (text, subject) => [
    ...lengthProblems(text, subject, HASH_LENGTH, HASH_LENGTH),
    ...mustMatch(text, subject, /^[0-9a-fA-F]*$/),
  ],
  normalize: (text) => text.toLowerCase(),
};

export const coinTypeItem: Item = {
  facts: { type: 'string', minLength: 1, maxLength: COIN_TYPE_LENGTH_MAX, example: '0x1::aptos_coin::AptosCoin' },
  problems: (text, subject) => lengthProblems(text, subject, 1, COIN_TYPE_LENGTH_MAX),
  normalize: (text) => text,
};

export const blockHeightItem: Item = {
  facts: { type: 'string', pattern: '^[0-9]+$' },
  problems: (text, subject) => {
    if (!DIGITS.test(text)) return [`${subject} must be a number string`];
    return BigInt(text) > BIGINT_MAX ? [`${subject} must not be greater than ${BIGINT_MAX}`] : [];
  },
  normalize: (text) => BigInt(text).toString(),
};

const ADDRESS_LENGTH = 66;
const HASH_LENGTH = 64;
const DIGITS = /^[0-9]{1,100}$/;
const BIGINT_MAX = 2n ** 63n - 1n;

export function listParameter(item: Item, description: string): Parameter<readonly string[]> {
  const optional = optionalListParameter(item, description);
  return {
    schema: listSchema(item, description, { required: true }),
    isArray: true,
    read(given, name) {
      if (given !== undefined) return optional.read(given, name) as Reading<readonly string[]>;
      const rules = [
        `contain no more than ${LIST_LENGTH_MAX} elements`,
        'contain at least 1 elements',
        'be an array',
      ];
      return { problems: rules.map((rule) => `${name} must ${rule}`) };
    },
  };
}

export function optionalListParameter(item: Item, description: string): Parameter<readonly string[] | null> {
  return {
    schema: listSchema(item, description, { required: false }),
    isArray: true,
    read(given, name) {
      if (given === undefined) return { value: null };
      const items = given.flatMap(splitList);
      const problems = new Set(items.flatMap((text) => item.problems(text, `each value in ${name}`)));
      if (items.length > LIST_LENGTH_MAX)
        problems.add(`${name} must contain no more than ${LIST_LENGTH_MAX} elements`);
      if (problems.size > 0) return { problems: [...problems] };
      return { value: [...new Set(items.map(item.normalize))].sort() };
    },
  };
}

export function pathParameter(item: Item, description: string): Parameter<string> {
  return {
    schema: documented({ ...item.facts, description }, { required: true }),
    isArray: false,
    read(given, name) {
      const text = given?.[0] ?? '';
      const problems = item.problems(text, name);
      return problems.length > 0 ? { problems } : { value: item.normalize(text) };
    },
  };
}

function listSchema(item: Item, description: string, { required }: { readonly required: boolean }) {
  return documented(
    { type: 'array', items: item.facts, minItems: 1, maxItems: LIST_LENGTH_MAX, description },
    { required },
  );
}

function splitList(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '<') depth += 1;
    else if (character === '>') depth -= 1;
    else if (character === ',' && depth <= 0) {
      items.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...items, text.slice(start)].map((item) => item.trim());
}

function mustMatch(text: string, subject: string, pattern: RegExp): readonly string[] {
  return pattern.test(text) ? [] : [`${subject} must match ${pattern} regular expression`];
}
