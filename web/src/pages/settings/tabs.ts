/** The tabs of the settings, in their order; each is a page of its own. */
export const TABS = [
  'organization',
  'credentials',
  'notifications',
  'retention',
  'appearance',
  'security',
  'about',
] as const
export type Tab = (typeof TABS)[number]
