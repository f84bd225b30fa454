import { largestLimit, type Query } from "../query.ts";

export interface Problem {
  /** The id of the field. */
  field: string;
  message: string;
}

/** What keeps a query from being sent. */
export function findProblems({ limit, offset }: Query): Problem[] {
  const isNumber = (number: number) => Number.isInteger(number) && number >= 0;
  return [
    ...(isNumber(limit) && limit <= largestLimit
      ? []
      : [
          {
            field: "limit",
            message: isNumber(limit)
              ? `A request gives at most ${largestLimit.toLocaleString("en-US")} rows. Send one of so many, then “Download all rows” fetches the others.`
              : `This should be a number from 0 to ${largestLimit.toLocaleString("en-US")}.`,
          },
        ]),
    ...(isNumber(offset) ? [] : [{ field: "offset", message: "This should be 0 or a larger number." }]),
  ];
}
