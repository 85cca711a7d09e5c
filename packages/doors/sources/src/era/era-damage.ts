/** The source adds its name and the file's. */
export class EraDamage extends Error {
  /** No block of the file can be used. */
  readonly isOfFile: boolean;

  constructor(what: string, isOfFile = false) {
    super(what);
    this.isOfFile = isOfFile;
  }
}

export function damage(what: string): never {
  throw new EraDamage(what);
}

export function damageOfFile(what: string): never {
  throw new EraDamage(what, true);
}
