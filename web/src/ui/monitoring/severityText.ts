import { catalogue } from '../../lib/i18n'

const useWords = catalogue(
  {
    LOW: 'low severity',
    HIGH: 'high severity',
    CRITICAL: 'critical severity',
  } as Record<string, string>,
  {
    LOW: 'gravedad baja',
    HIGH: 'gravedad alta',
    CRITICAL: 'gravedad crítica',
  },
)

/** A severity of the interface in words. */
export function severityText(severity: string): string {
  return useWords.now()[severity] ?? severity
}
