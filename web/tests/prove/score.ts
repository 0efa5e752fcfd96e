/** The performance score of Lighthouse 12 for desktop, without Speed Index, which needs a film. */
export interface Vitals {
  fcp: number
  lcp: number
  tbt: number
  cls: number
}

interface Curve {
  /** The value with a score of 0.9, and that with 0.5. */
  p10: number
  median: number
  weight: number
}

const CURVES: Record<keyof Vitals, Curve> = {
  fcp: { p10: 934, median: 1_600, weight: 10 },
  lcp: { p10: 1_200, median: 2_400, weight: 25 },
  tbt: { p10: 150, median: 350, weight: 30 },
  cls: { p10: 0.1, median: 0.25, weight: 25 },
}
const INVERSE_ERFC_ONE_FIFTH = 0.9061938024368232

/** From 0 to 100. */
export function performanceScore(vitals: Vitals): number {
  let sum = 0
  let weights = 0
  for (const [name, curve] of Object.entries(CURVES) as [keyof Vitals, Curve][]) {
    sum += curve.weight * part(vitals[name], curve)
    weights += curve.weight
  }
  return (100 * sum) / weights
}

/** One part of the score, from 0 to 1: the tail of a log-normal distribution. */
export function part(value: number, { p10, median }: Pick<Curve, 'p10' | 'median'>): number {
  if (value <= 0) return 1
  const x = (Math.log(value / median) * INVERSE_ERFC_ONE_FIFTH) / -Math.log(p10 / median)
  return (1 - erf(x)) / 2
}

/** Abramowitz and Stegun 7.1.26; the error is below 1.5e-7. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x))
  const sum =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
  return Math.sign(x) * (1 - sum * Math.exp(-x * x))
}
