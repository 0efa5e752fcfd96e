import { catalogue } from '../../lib/i18n'

export const useUsageText = catalogue(
  { cpu: 'CPU', mem: 'Memory', disk: 'Disk' },
  { cpu: 'CPU', mem: 'Memoria', disk: 'Disco' },
)
