const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Longer strings are searched natively; for these, that call costs more. */
const SHORT_STRING = 40;

/** RFC 8259, section 2. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

class IncrementalScanner implements ValueScanner {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isPrimitive = false;

  scan(bytes: Buffer, from: number): number {
    let at = from;
    if (this.#isInString) {
      at = this.#closeString(bytes, at);
      if (at < 0 || this.#depth === 0) return at;
    }
    if (this.#isPrimitive) return endOfPrimitive(bytes, at);
    for (const end = bytes.length; at < end; ) {
      switch (bytes[at]) {
        case QUOTE:
          at = this.#closeString(bytes, at + 1);
          if (at < 0 || this.#depth === 0) return at;
          break;
        case 0x7b: // {
        case 0x5b: // [
          this.#depth++;
          at++;
          break;
        case 0x7d: // }
        case 0x5d: // ]
          at++;
          if (--this.#depth <= 0) return at;
          break;
        default:
          if (this.#depth === 0) {
            this.#isPrimitive = true;
            return endOfPrimitive(bytes, at);
          }
          at++;
      }
    }
    return -1;
  }

  /** -1 without closing quote. `from`: first byte, or the next chunk's. */
  #closeString(bytes: Buffer, from: number): number {
    const end = bytes.length;
    this.#isInString = from >= end;
    if (this.#isInString) return -1;
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at++;
    }
    const soon = Math.min(end, at + SHORT_STRING);
    for (; at < soon; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
    }
    if (at <= end) {
      for (;;) {
        const quote = bytes.indexOf(QUOTE, at);
        const stop = quote < 0 ? end : quote;
        let slashes = 0;
        while (stop - slashes > at && bytes[stop - slashes - 1] === BACKSLASH) slashes++;
        const isEscaped = slashes % 2 === 1;
        if (quote >= 0 && !isEscaped) return quote + 1;
        if (quote < 0) {
          this.#isEscaped = isEscaped;
          break;
        }
        at = quote + 1;
      }
    } else this.#isEscaped = true;
    this.#isInString = true;
    return -1;
  }
}

function endOfPrimitive(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x2c || byte === 0x7d || byte === 0x5d || isSpace(byte)) return at;
  }
  return -1;
}

/** A JSON value in chunks, unparsed: strings closed, brackets balanced. */
export interface ValueScanner {
  /** Index after the value; -1: it continues in the next chunk (from 0). */
  scan(bytes: Buffer, from: number): number;
}

export function createValueScanner(): ValueScanner {
  return new IncrementalScanner();
}
