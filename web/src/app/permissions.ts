/** Levels from lowest to highest, as the server has them. */
export const LEVELS = ['viewer', 'user', 'manager', 'admin', 'owner'] as const
export type Level = (typeof LEVELS)[number]

/** The permission that each action needs; only here in the console. The server checks it again. */
export const REQUIRED_LEVEL = {
  'job.act': 'user',
  'job.purge': 'admin',
  'task.run': 'user',
  'task.edit': 'admin',
  'task.access': 'manager',
  'task.secret': 'admin',
  'workflow.run': 'user',
  'workflow.edit': 'admin',
  'script.read': 'manager',
  'script.edit': 'admin',
  'monitor.edit': 'admin',
  'host.edit': 'admin',
  'host.exec': 'admin',
  'indicator.edit': 'admin',
  'indicator.count': 'admin',
  'webhook.edit': 'admin',
  'webhook.trigger': 'admin',
  'schedule.edit': 'admin',
  'secret.edit': 'admin',
  'member.edit': 'manager',
  'token.edit': 'admin',
  'notify.edit': 'admin',
  'audit.read': 'admin',
  'organization.edit': 'owner',
  'statuspage.edit': 'admin',
} as const satisfies Record<string, Level>
export type Action = keyof typeof REQUIRED_LEVEL

export function hasLevel(level: string, required: Level): boolean {
  return LEVELS.indexOf(level as Level) >= LEVELS.indexOf(required)
}

export function isAllowed(level: string, action: Action): boolean {
  return hasLevel(level, REQUIRED_LEVEL[action])
}
