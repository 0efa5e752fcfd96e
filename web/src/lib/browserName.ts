import { catalogue } from './i18n'

const useText = catalogue(
  { on: (browser: string, system: string) => `${browser} on ${system}` },
  { on: (browser, system) => `${browser} en ${system}` },
)

/** Browsers also name those that they are compatible with: the first that fits counts. */
const BROWSERS: [RegExp, string][] = [
  [/\bEdg(?:e|A|iOS)?\/(\d+)/, 'Edge'],
  [/\b(?:OPR|Opera)\/(\d+)/, 'Opera'],
  [/\bSamsungBrowser\/(\d+)/, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|Chromium|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)[\d.]*.* Safari\//, 'Safari'],
]
const SYSTEMS: [RegExp, string][] = [
  [/\biPad\b/, 'iPadOS'],
  [/\biPhone\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** "Chrome 156 on Linux" for a user agent; programs keep the name that they send. */
export function browserName(agent: string): string {
  if (!agent.startsWith('Mozilla/')) return agent
  const [pattern, name] = BROWSERS.find(([browser]) => browser.test(agent)) ?? []
  const system = SYSTEMS.find(([word]) => word.test(agent))?.[1]
  if (!pattern || !system) return agent
  return useText.now().on(`${name} ${pattern.exec(agent)?.[1]}`, system)
}
