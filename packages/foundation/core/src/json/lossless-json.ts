/** A number in JSON text that a double would change, such as 9007199254740993. It keeps the digits of its source. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  /** Returns a value that `JSON.stringify` writes as the source's digits. Its type is that of the JSON value. */
  toJSON(): number {
    return json.rawJSON(this.source);
  }
}

/** A number becomes an {@link ExactNumber} if a double would change or show it with an exponent. @throws SyntaxError, RangeError */
export function parseLosslessJson(text: string): unknown {
  return LOSSY_NUMBER.test(text) ? json.parse(text, keepDigits) : JSON.parse(text);
}

/** Doubles preserve every number of up to 15 digits without an exponent, so most texts need no second pass. */
const LOSSY_NUMBER = /[\d.]{16}|\de/i;

/** Missing in the standard type library: source text of values (Node.js 21 and newer). */
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

/** Returns one text for each decimal value: `-12.50e3` and `-12500` are equal. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return number.startsWith('I') || number.startsWith('-I') ? number : '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
