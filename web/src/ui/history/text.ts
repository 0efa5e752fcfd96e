import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    noAudit: 'Only admins can see who changed the definition.',
    noChanges: 'No changes recorded.',
  },
  {
    noAudit: 'Solo los administradores ven quién cambió la definición.',
    noChanges: 'No hay cambios registrados.',
  },
)
