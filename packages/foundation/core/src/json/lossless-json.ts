/** A number that a double would change, such as 9007199254740993. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  toJSON(): number {
    return json.rawJSON(this.source);
  }
}

/** {@link ExactNumber} where a double would change it or use an exponent. @throws SyntaxError */
export function parseLosslessJson(text: string): unknown {
  return LOSSY_NUMBER.test(text) ? json.parse(text, keepDigits) : JSON.parse(text);
}

/** Doubles keep up to 15 digits without exponent: most texts need no second pass. */
const LOSSY_NUMBER = /[\d.]{16}|\de/i;

/** Not in the standard type library (Node.js 21 and newer). */
const json: {
  parse(text: string, reviver: typeof keepDigits): unknown;
  rawJSON(text: string): number;
} = Object(JSON);

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  const asDouble = String(value);
  if (asDouble === source) return value;
  const isRewritten = asDouble.includes('e') && /^-?\d+$/.test(source);
  return isRewritten || decimalOf(asDouble) !== decimalOf(source) ? new ExactNumber(source) : value;
}

/** One text per decimal value: `-12.50e3` and `-12500` are equal. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return number.startsWith('I') || number.startsWith('-I') ? number : '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** False for lists. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
