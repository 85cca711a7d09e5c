/** Something that a test opens and closes, by `close` or by `await using`. */
export interface Closable extends AsyncDisposable {
  /** Closes it, last part first. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Moves the parts of a stage to the object that the stage returns. A stage acquires its parts on an `await using` stack and ends with
 * `return { …, ...closeOf(parts) }`: if a step before throws, the stack disposes of the parts that exist by then.
 */
export function closeOf(parts: AsyncDisposableStack): Closable {
  const owned = parts.move();
  const close = (): Promise<void> => owned.disposeAsync();
  return { close, [Symbol.asyncDispose]: close };
}
