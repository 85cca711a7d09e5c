import { defineError } from '@chainstead/core';
import { type MoveType, PRIMITIVE_NAMES, standardAddress } from './move-type.ts';

/** Linear; white space anywhere. @throws MoveTypeError, also above {@link NESTING_MAX} */
export function parseMoveType(text: string): MoveType {
  const reader = new TypeReader(text);
  const type = reader.type(0);
  reader.end();
  return type;
}

/** Levels. The Move VM's limit is 8. */
export const NESTING_MAX = 64;

const WORD = /[A-Za-z0-9_$]+/y;
const SPACE = /\s*/y;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]*$/;
const PARAMETER = /^T(0|[1-9][0-9]{0,4})$/;

class TypeReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  type(depth: number): MoveType {
    if (depth > NESTING_MAX) throw this.#error(`more than ${NESTING_MAX} levels`);
    if (this.#take('&')) return this.#reference(depth);
    const word = this.#word('a type');
    if (this.#take('::')) return this.#struct(word, depth);
    const primitive = PRIMITIVE_NAMES.find((name) => name === word);
    if (primitive !== undefined) return { kind: 'primitive', name: primitive };
    if (word === 'vector') return { kind: 'vector', element: this.#single(depth) };
    const index = PARAMETER.exec(word)?.[1];
    if (index !== undefined) return { kind: 'parameter', index: Number(index) };
    throw this.#error('an unknown type');
  }

  end(): void {
    this.#skipSpace();
    if (this.#position < this.#text.length) throw this.#error('more text');
  }

  #reference(depth: number): MoveType {
    const before = this.#position;
    const mutable = this.#peekWord() === 'mut';
    if (!mutable) this.#position = before;
    return { kind: 'reference', mutable, target: this.type(depth + 1) };
  }

  #struct(addressText: string, depth: number): MoveType {
    const address = standardAddress(addressText);
    if (address === null) throw this.#error('no address before "::"');
    const module = this.#identifier('a module');
    if (!this.#take('::')) throw this.#error('no "::" after the module');
    const name = this.#identifier('a name');
    return {
      kind: 'struct',
      address,
      module,
      name,
      typeArguments: this.#take('<') ? this.#typeArguments(depth) : [],
    };
  }

  #single(depth: number): MoveType {
    if (!this.#take('<')) throw this.#error('no "<" after "vector"');
    const element = this.type(depth + 1);
    if (!this.#take('>')) throw this.#error('no ">"');
    return element;
  }

  #typeArguments(depth: number): readonly MoveType[] {
    const types = [this.type(depth + 1)];
    while (this.#take(',')) types.push(this.type(depth + 1));
    if (!this.#take('>')) throw this.#error('no ">"');
    return types;
  }

  #identifier(what: string): string {
    const word = this.#word(what);
    if (!IDENTIFIER.test(word)) throw this.#error(`no identifier as ${what}`);
    return word;
  }

  #word(what: string): string {
    const word = this.#peekWord();
    if (word === null) throw this.#error(`nothing where ${what} should be`);
    return word;
  }

  #peekWord(): string | null {
    this.#skipSpace();
    WORD.lastIndex = this.#position;
    const word = WORD.exec(this.#text)?.[0];
    if (word === undefined) return null;
    this.#position += word.length;
    return word;
  }

  #take(token: string): boolean {
    this.#skipSpace();
    if (!this.#text.startsWith(token, this.#position)) return false;
    this.#position += token.length;
    return true;
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#position;
    SPACE.exec(this.#text);
    this.#position = SPACE.lastIndex;
  }

  #error(reason: string): MoveTypeError {
    return new MoveTypeError(reason, this.#position);
  }
}

export class MoveTypeError extends defineError('MOVE_TYPE_INVALID', (reason: string, position: number) => ({
  message: `The text is not a Move type: ${reason} at character ${position}`,
  facts: { reason, position },
})) {}
