import { catalogue, plural } from '../../../lib/i18n'

export const useHeldText = catalogue(
  {
    title: 'Held jobs',
    intro:
      'The database was restored from a backup. These jobs were waiting at that time and may have run since. Check on the host what each has done: release a job that has not run, open it to set the result of one that has run, or cancel one that must not run.',
    restoredAt: (when: string) => `Restored ${when}.`,
    count: (n: number) => plural(n, 'held job', 'held jobs'),
    job: 'Job',
    host: 'Host',
    created: 'Created',
    mayHaveRun: 'What it may have done',
    evidence: {
      awaited:
        'The agent has not connected since the restore. If it shows that it has accepted nothing since the backup, the job is released automatically.',
      no_journal: 'The agent keeps no journal, or never connected. It cannot show what it has run.',
      accepted: 'The host has accepted jobs after the backup. This job may be one of them.',
      restarted:
        'The agent was restarted after the backup, so that its journal cannot show what ran before.',
      rolled_back:
        'The host was restored from a snapshot too. Its journal no longer shows what it ran.',
    } as Record<string, string>,
    script: (name: string) => `Script ${name}`,
    attempts: (n: number) => `${plural(n, 'attempt', 'attempts')} before the backup`,
    startedBy: (who: string) => `Started by ${who}`,
    release: 'Release',
    releaseJob: (name: string) => `Release ${name}`,
    cancel: 'Cancel job',
    cancelJob: (name: string) => `Cancel ${name}`,
    keep: 'Keep it held',
    releaseTitle: (name: string) => `Release ${name}?`,
    releaseBody:
      'It runs as soon as its host is ready. If it has run after the backup, it runs a second time.',
    cancelTitle: (name: string) => `Cancel ${name}?`,
    cancelBody: 'It does not run. The audit log records who canceled it.',
    releaseAll: 'Release all',
    releaseAllTitle: (n: number) => `Release ${plural(n, 'held job', 'held jobs')}?`,
    releaseAllBody:
      'All of them run as soon as their hosts are ready. Those that have run after the backup run a second time.',
    releaseAllWord: 'release',
    released: (n: number) => `${plural(n, 'job', 'jobs')} released.`,
    canceled: 'Job canceled.',
    more: 'Show more',
    empty: 'No held jobs',
    emptyBody:
      'After a backup was restored, jobs that may have run since are listed here until an admin releases, resolves or cancels them.',
    adminsOnly: 'Only admins can see and release held jobs.',
  },
  {
    title: 'Trabajos retenidos',
    intro:
      'La base de datos se restauró desde una copia de seguridad. Estos trabajos estaban en espera en ese momento y pueden haberse ejecutado después. Comprueba en el equipo qué hizo cada uno: libera el que no se ejecutó, abre el que se ejecutó para fijar su resultado, o cancela el que no deba ejecutarse.',
    restoredAt: (when: string) => `Restaurada ${when}.`,
    count: (n: number) => plural(n, 'trabajo retenido', 'trabajos retenidos'),
    job: 'Trabajo',
    host: 'Equipo',
    created: 'Creado',
    mayHaveRun: 'Qué puede haber hecho',
    evidence: {
      awaited:
        'El agente no se ha conectado desde la restauración. Si demuestra que no aceptó nada después de la copia, el trabajo se libera automáticamente.',
      no_journal:
        'El agente no lleva un registro, o nunca se conectó. No puede demostrar qué ejecutó.',
      accepted:
        'El equipo aceptó trabajos después de la copia. Este trabajo puede ser uno de ellos.',
      restarted:
        'El agente se reinició después de la copia; su registro no puede demostrar qué se ejecutó antes.',
      rolled_back:
        'El equipo también se restauró desde una instantánea. Su registro ya no muestra lo que ejecutó.',
    },
    script: (name: string) => `Script ${name}`,
    attempts: (n: number) => `${plural(n, 'intento', 'intentos')} antes de la copia`,
    startedBy: (who: string) => `Iniciado por ${who}`,
    release: 'Liberar',
    releaseJob: (name: string) => `Liberar ${name}`,
    cancel: 'Cancelar trabajo',
    cancelJob: (name: string) => `Cancelar ${name}`,
    keep: 'Dejar retenido',
    releaseTitle: (name: string) => `¿Liberar ${name}?`,
    releaseBody:
      'Se ejecuta en cuanto su equipo esté listo. Si se ejecutó después de la copia, se ejecuta por segunda vez.',
    cancelTitle: (name: string) => `¿Cancelar ${name}?`,
    cancelBody: 'No se ejecuta. El registro de auditoría anota quién lo canceló.',
    releaseAll: 'Liberar todos',
    releaseAllTitle: (n: number) =>
      `¿Liberar ${plural(n, 'trabajo retenido', 'trabajos retenidos')}?`,
    releaseAllBody:
      'Todos se ejecutan en cuanto sus equipos estén listos. Los que se ejecutaron después de la copia se ejecutan por segunda vez.',
    releaseAllWord: 'liberar',
    released: (n: number) => `${plural(n, 'trabajo liberado', 'trabajos liberados')}.`,
    canceled: 'Trabajo cancelado.',
    more: 'Mostrar más',
    empty: 'No hay trabajos retenidos',
    emptyBody:
      'Después de restaurar una copia, los trabajos que pueden haberse ejecutado desde entonces aparecen aquí hasta que un administrador los libere, resuelva o cancele.',
    adminsOnly: 'Solo los administradores pueden ver y liberar los trabajos retenidos.',
  },
)
