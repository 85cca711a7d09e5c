/** The source adds its name and the file's. */
export class EraDamage extends Error {}

export function damage(what: string): never {
  throw new EraDamage(what);
}
