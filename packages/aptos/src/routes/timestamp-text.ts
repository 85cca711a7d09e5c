/** A moment as these routes show it: six digits after the second, all of them 0, since whole seconds are kept. */
export function timestampText(moment: Date): string {
  return `${moment.toISOString().slice(0, WHOLE_SECONDS_LENGTH)}.000000Z`;
}

/** `2023-02-07T08:54:55` */
const WHOLE_SECONDS_LENGTH = 19;
