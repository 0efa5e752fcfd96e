import { prefs, usePrefs } from './prefs'

/**
 * The texts of a part of the console, in every language. The second catalogue must
 * have the shape of the first, so a forgotten sentence does not compile. Give the result a name
 * that begins with `use`: it is a hook.
 */
export function catalogue<T extends object>(en: T, es: NoInfer<T>): Words<T> {
  const of = { en, es }
  const use = () => of[usePrefs().language]
  return Object.assign(use, { now: () => of[prefs().language] })
}

export interface Words<T> {
  (): T
  /** For code outside of components. */
  now: () => T
}

/** `plural(3, 'job', 'jobs')` is "3 jobs". */
export function plural(n: number, singular: string, other: string): string {
  const word = new Intl.PluralRules(prefs().language).select(n) === 'one' ? singular : other
  return `${number(n)} ${word}`
}

export function number(n: number, digits = 0): string {
  return n.toLocaleString(prefs().language, { maximumFractionDigits: digits })
}
