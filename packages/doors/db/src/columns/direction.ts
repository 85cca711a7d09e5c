/** Side of a transfer, as stored in `direction` columns. A self-transfer is one row. */
export const DIRECTION = { sent: 0, received: 1, self: 2 } as const;

export type Direction = (typeof DIRECTION)[keyof typeof DIRECTION];

/** True for one row per transfer. */
export const IS_GIVING_SIDE = `direction <> ${DIRECTION.received}`;
