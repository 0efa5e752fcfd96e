import { Button, Group, Stack, Text } from '@mantine/core'
import { catalogue } from '../../lib/i18n'
import { useCopy } from '../copy/useCopy'
import { Dialog } from '../form/Dialog'
import { useWords } from '../text'

const useText = catalogue(
  {
    title: 'Recovery codes',
    body: 'Each code signs you in once if you lose your phone. Store them somewhere safe: they are not shown again.',
    codesSaved: 'I have saved them',
  },
  {
    title: 'Códigos de recuperación',
    body: 'Cada código permite entrar una vez si pierdes el teléfono. Guárdalos en lugar seguro: no se muestran otra vez.',
    codesSaved: 'Los he guardado',
  },
)

/** Shown once, after a second factor was set up. null: closed. */
export function RecoveryCodes({ codes, onClose }: { codes: string[] | null; onClose: () => void }) {
  const t = useText()
  const w = useWords()
  const { isCopied, copy } = useCopy()
  return (
    <Dialog
      opened={codes !== null}
      onClose={onClose}
      title={t.title}
      closeOnClickOutside={false}
      withCloseButton={false}
    >
      <Stack gap="sm">
        <Text size="sm">{t.body}</Text>
        <ul className="recovery-codes">
          {codes?.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={() => copy(codes?.join('\n') ?? '')}>
            {isCopied ? w.copied : w.copy}
          </Button>
          <Button onClick={onClose}>{t.codesSaved}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
