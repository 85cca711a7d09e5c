/** Checks a payload and gives it its type; throws when it doesn't fit. A zod schema is one. */
export interface PayloadSchema<Payload> {
  parse(input: unknown): Payload;
}
