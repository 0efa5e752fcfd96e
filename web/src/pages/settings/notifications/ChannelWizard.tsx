import { Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../../../ui/form/Dialog'
import { SERVICES, type Service } from './services'
import { useText } from './text'
import { useWizard } from './useWizard'
import { WizardForm } from './WizardForm'
import { useWizardText } from './wizardText'

/** Any address that Apprise supports, entered as text. */
const OTHER: Service = {
  id: 'other',
  label: '',
  fields: [
    {
      name: 'webhookUrl',
      label: '',
      isSecret: true,
      placeholder: 'signal://…, matrix://…, sns://…',
    },
  ],
}

/** Sets up notifications: choose a service, fill in what it needs, test it, choose what is sent. */
export function ChannelWizard({ onClose }: { onClose: () => void }) {
  const t = useWizardText()
  const { url, urlHelp } = useText()
  const [service, setService] = useState<Service | null>(null)
  const wizard = useWizard()
  const close = () => {
    wizard.discard({ isClosed: true })
    onClose()
  }
  return (
    <Dialog
      opened
      onClose={close}
      title={service?.label ? `${t.title}: ${service.label}` : t.title}
      size="lg"
    >
      {service ? (
        <WizardForm
          service={service}
          label={service === OTHER ? url : undefined}
          help={service === OTHER ? urlHelp : undefined}
          wizard={wizard}
          onBack={() => {
            wizard.discard({ isClosed: false })
            setService(null)
          }}
          onClose={close}
        />
      ) : (
        <Stack gap="sm">
          <Text size="sm">{t.choose}</Text>
          <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="xs">
            {SERVICES.map((choice) => (
              <Button key={choice.id} variant="default" onClick={() => setService(choice)}>
                {choice.label}
              </Button>
            ))}
          </SimpleGrid>
          <Button variant="subtle" onClick={() => setService(OTHER)}>
            {t.other}
          </Button>
        </Stack>
      )}
    </Dialog>
  )
}
