/** Uniform draws. The same keys give the same sequence on every machine. */
export type Random = {
  /** In [0, 1). */
  next(): number;
  /** Both ends included. */
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** One of the values, in proportion to the weights. */
  weigh<T>(choices: readonly (readonly [T, number])[]): T;
  digits(count: number): string;
};

const UINT32 = 4_294_967_296;

/**
 * A generator for these keys, e.g. (seed, index, "awards").
 *
 * sfc32 (Chris Doty-Humphrey's, public domain) is our own ten lines: `Math.random` takes no seed. Nothing here
 * uses `Math.log` and the like, whose last digit may differ between engines.
 */
export function createRandom(...keys: (number | string)[]): Random {
  const next = createSfc32(hashKeys(keys));
  const random: Random = {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => at(items, Math.floor(next() * items.length)),
    weigh: (choices) => {
      let left = next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [value, weight] of choices) {
        left -= weight;
        if (left < 0) return value;
      }
      return at(choices, 0)[0];
    },
    digits: (count) => Array.from({ length: count }, () => Math.floor(next() * 10)).join(""),
  };
  return random;
}

/** The item at an index that is known to exist. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index} in a list of ${items.length}`);
  return item;
}

/** A distribution: [probability, value] from 0 to 1, rising; straight lines in between. */
export type Quantiles = readonly (readonly [number, number])[];

/** The whole number below which a share `u` of the distribution lies. */
export function invertQuantiles(quantiles: Quantiles, u: number): number {
  for (let i = 1; i < quantiles.length; i += 1) {
    const [right, high] = at(quantiles, i);
    if (u > right) continue;
    const [left, low] = at(quantiles, i - 1);
    return Math.floor(low + ((high - low) * (u - left)) / (right - left));
  }
  return at(quantiles, quantiles.length - 1)[1];
}

// The two steps of Martin Roberts' R2 sequence: points that fill the unit square evenly from the first few on.
const R2 = [0.7548776662466927, 0.5698402909980532] as const;

/** Point `n` of an even spread over the unit square, so that a small sample has the proportions of a large one. */
export function spreadEvenly(seed: number, n: number): [number, number] {
  const random = createRandom(seed, "spread");
  return [(random.next() + n * R2[0]) % 1, (random.next() + n * R2[1]) % 1];
}

function createSfc32([a, b, c, d]: [number, number, number, number]): () => number {
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / UINT32;
  };
  for (let i = 0; i < 12; i += 1) next();
  return next;
}

/** FNV-1a over the keys, then murmur3's finaliser, four times over with different offsets. */
function hashKeys(keys: (number | string)[]): [number, number, number, number] {
  let hash = 2_166_136_261;
  for (const character of keys.join("\u0000")) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619);
  }
  const finish = (offset: number) => {
    let h = (hash + offset) | 0;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return (h ^ (h >>> 16)) | 0;
  };
  return [finish(0), finish(0x9e3779b9), finish(0x3c6ef372), finish(0xdaa66d2b)];
}
